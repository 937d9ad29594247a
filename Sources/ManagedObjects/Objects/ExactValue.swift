/// The value of an `Any` if its type is exactly the given one; nil for every other type, subclasses included.
///
/// A conditional cast of an `Any` costs hundreds of instructions, and a failing one a thousand; this costs ten. It is used
/// for the usual types of values before the casts that also accept others.
@inline(__always)
func exactValue<Type>(_ value: Any, as _: Type.Type = Type.self) -> Type? {
    guard type(of: value) == Type.self, MemoryLayout<Type>.size <= 3 * MemoryLayout<Int>.size else { return nil }
    // Safe because the type is known, and an existential container stores a value of at most three words itself.
    return withUnsafeBytes(of: value) { $0.load(as: Type.self) }
}
