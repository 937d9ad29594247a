import CoreData

/// A value transformer for transformable attributes whose values are Codable.
///
///     CodableTransformer<Settings>.register(as: "SettingsTransformer")
///
/// Creates only instances that the type's own decoding creates. A value of another type, and bytes that cannot be
/// decoded, give nil, which Core Data reports with the attribute; `lastError` contains the reason.
public final class CodableTransformer<Value: Codable>: ValueTransformer, @unchecked Sendable {  // because of its lock
    private let lock = NSLock()
    private var coder = ValueCoder.json
    private var error: TransformableError?

    /// Registers a transformer of this type under the name in the model. Call it once in a process, before a store is opened.
    @discardableResult
    public static func register(as name: String, coder: ValueCoder = .json) -> CodableTransformer<Value> {
        let transformer = CodableTransformer<Value>()
        transformer.coder = coder
        ValueTransformer.setValueTransformer(transformer, forName: NSValueTransformerName(name))
        return transformer
    }

    /// The error of the last failed transformation.
    package var lastError: TransformableError? { lock.withLock { error } }

    public override class func transformedValueClass() -> AnyClass { NSData.self }
    public override class func allowsReverseTransformation() -> Bool { true }

    /// Encodes a value.
    public override func transformedValue(_ value: Any?) -> Any? {
        guard let value else { return nil }
        guard let typed = value as? Value else {
            return note(.wrongType, "A value of type \(type(of: value)) is not a \(Value.self).")
        }
        do {
            return try coder.encode(typed)
        } catch {
            return note(.encoding, "A value of type \(Value.self) cannot be encoded: \(error)")
        }
    }

    /// Decodes a value.
    public override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data else { return nil }
        do {
            return try coder.decode(Value.self, from: data)
        } catch {
            return note(.decoding, "The stored bytes are not a valid \(Value.self): \(error)")
        }
    }

    private func note(_ code: TransformableError.Code, _ message: String) -> Any? {
        lock.withLock { error = TransformableError(code, message) }
        return nil
    }
}
