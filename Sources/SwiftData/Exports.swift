// What a program finds with `import SwiftData` alone: Foundation, Observation, and the transformers that Foundation lacks here.

@_exported import Foundation
@_exported import Observation
@_exported import class ManagedObjects.UndoManager
@_exported import class ManagedObjects.ValueTransformer
@_exported import struct ManagedObjects.NSValueTransformerName
