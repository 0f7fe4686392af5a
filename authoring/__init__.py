"""From lesson source to notebooks, and what machines without a network need."""
