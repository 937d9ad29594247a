// What a program finds with `import SwiftData` alone: Foundation, Observation, and what Foundation lacks here.

@_exported import Foundation
@_exported import Observation
@_exported import class ManagedObjects.UndoManager
@_exported import func ManagedObjects.autoreleasepool
@_exported import class ManagedObjects.ValueTransformer
@_exported import struct ManagedObjects.NSValueTransformerName

#if compiler(<6.2)
    /// Swift's protocol of types whose metatypes can be sent. Older compilers assume it of all types, and do not have its name.
    public protocol SendableMetatype {}
#endif
