"""Planning and acting: the cross-entropy method, receding-horizon control, returns in the environment itself."""
