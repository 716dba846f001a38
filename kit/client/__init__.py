"""The client: requests as data, flows that need several of them, and two ways to drive a flow."""
