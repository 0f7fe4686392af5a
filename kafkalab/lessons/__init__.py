"""What one lesson alone needs: its drawings and helpers, in a module named after the lesson."""
