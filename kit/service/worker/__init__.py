"""Workers: claim generations, render them in child processes and settle them."""
