"""The only thing hub and node both know: names, file names, and the shape of what crosses the wire."""
