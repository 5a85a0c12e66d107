"""A real Slurm cluster of many virtual nodes on this one host, in a private directory."""
