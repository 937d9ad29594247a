// What a program finds with `import SwiftData` alone: Foundation, Observation, and what Foundation lacks here.

@_exported import Foundation
@_exported import Observation
@_exported import class FoundationAdditions.UndoManager
@_exported import func FoundationAdditions.autoreleasepool
@_exported import class FoundationAdditions.ValueTransformer
@_exported import struct FoundationAdditions.NSValueTransformerName

#if compiler(<6.2)
    /// Swift's protocol of types whose metatypes can be sent. Older compilers assume it of all types, and do not have its name.
    public protocol SendableMetatype {}
#endif
