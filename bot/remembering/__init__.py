"""The workers of durable memory, beside the turns and never in their way: reading, embedding, summing up."""
