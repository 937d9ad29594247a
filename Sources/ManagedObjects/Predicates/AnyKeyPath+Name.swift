extension AnyKeyPath {
    /// The name of a key path of managed objects, as ``KeyPathRegistry/name(of:)`` returns it; nil for other key paths.
    /// In Swift's own library it is nil outside Apple's platforms.
    public var _kvcKeyPathString: String? { KeyPathRegistry.name(of: self) }
}
