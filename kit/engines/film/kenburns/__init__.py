"""Ken Burns: a camera that pans and zooms over a still picture."""
