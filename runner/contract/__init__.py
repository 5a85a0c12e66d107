"""The only thing hub and node both know: names, file names, the shape of what they exchange."""
