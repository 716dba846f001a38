"""Where files are kept, and the signed addresses that lead to them."""
