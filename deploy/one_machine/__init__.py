"""Hub, site and satellite on this one machine, started, watched and ended by one supervisor."""
