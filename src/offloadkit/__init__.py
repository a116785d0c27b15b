"""Large and old tool results leave an agent's context, and stay within its reach."""
