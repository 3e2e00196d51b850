"""`muninn doctor`: what is reachable and right, said before or while Muninn runs, with the next step for each fault."""
