// Swift's own library has the property too, where it is always nil outside Apple's platforms. A declaration of an imported module
// takes precedence over it, one that is only re-exported does not: therefore it is in this module.

// The import is exported here too: otherwise the re-export of the same name in Exports.swift has no effect.
@_exported import enum FoundationAdditions.KeyPathRegistry

extension AnyKeyPath {
    /// The name of a key path of managed objects, as ``KeyPathRegistry/name(of:)`` returns it; nil for other key paths.
    public var _kvcKeyPathString: String? { KeyPathRegistry.name(of: self) }
}
