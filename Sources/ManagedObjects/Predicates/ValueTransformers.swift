import Foundation

/// The registered transformers.
internal final class ValueTransformers: @unchecked Sendable {  // because every access holds the lock
    static let shared = ValueTransformers()

    private let lock = NSLock()
    private var transformers: [NSValueTransformerName: ValueTransformer] = [
        .negateBooleanTransformerName: NegateBooleanTransformer(),
        .isNilTransformerName: IsNilTransformer(isNil: true),
        .isNotNilTransformerName: IsNilTransformer(isNil: false),
        .unarchiveFromDataTransformerName: NSSecureUnarchiveFromDataTransformer(),
        .keyedUnarchiveFromDataTransformerName: NSSecureUnarchiveFromDataTransformer(),
        .secureUnarchiveFromDataTransformerName: NSSecureUnarchiveFromDataTransformer(),
    ]

    var names: [NSValueTransformerName] {
        lock.withLock { transformers.keys.sorted { $0.rawValue < $1.rawValue } }
    }

    func set(_ transformer: ValueTransformer?, named name: NSValueTransformerName) {
        lock.withLock { transformers[name] = transformer }
    }

    func transformer(named name: NSValueTransformerName) -> ValueTransformer? {
        if let transformer = lock.withLock({ transformers[name] }) { return transformer }
        let classes = ProgramClasses.named(name.rawValue).compactMap { $0 as? ValueTransformer.Type }
        let own = classes.first { $0 == NSSecureUnarchiveFromDataTransformer.self }
        // If several classes have the name, none of them is used.
        guard let found = own ?? (classes.count == 1 ? classes[0] : nil) else { return nil }
        // Created without the lock, because its initialiser may register transformers.
        let transformer = found.init()
        return lock.withLock {
            if let transformer = transformers[name] { return transformer }
            transformers[name] = transformer
            return transformer
        }
    }
}

private final class NegateBooleanTransformer: ValueTransformer {
    override func transformedValue(_ value: Any?) -> Any? { ((value as? NSNumber)?.boolValue ?? false) == false }
}

private final class IsNilTransformer: ValueTransformer {
    private let isNil: Bool

    init(isNil: Bool) { self.isNil = isNil }

    required init() { isNil = true }

    override class func allowsReverseTransformation() -> Bool { false }

    override func transformedValue(_ value: Any?) -> Any? { (value == nil || value is NSNull) == isNil }
}
