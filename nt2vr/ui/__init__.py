"""The page: one file a tab, above them the data it shows; no search or model logic here."""
