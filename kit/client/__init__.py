"""The client: requests as data, flows of several requests, and two clients that run flows."""
