"""Video editing: settings become a plan, and frames are processed one by one."""
