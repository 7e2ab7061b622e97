"""What `import nt2vr` returns: a searcher, a model and an evaluation, with arguments checked."""
