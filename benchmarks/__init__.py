"""Speed beside other libraries: each module measures one thing, RESULTS.md is rendered from all."""
