"""The executed lessons as pages of a static site, which needs no network and no web server."""
