// The store exists.
_ = container
