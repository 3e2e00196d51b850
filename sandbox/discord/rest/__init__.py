"""REST v10: one module a resource, each a list of routes; ``router`` finds them and ``pipeline`` runs them."""
