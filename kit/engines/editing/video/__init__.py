"""How videos are edited: what is asked becomes a plan, and frames pass through it one by one."""
