"""What can be asked of a machine without a tool."""
