"""The worker door: claims generations, renders them in child processes, settles them."""
