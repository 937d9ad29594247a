import Foundation

/// Finds the properties that a key path reads, by reading it from an object that notes them.
///
/// A key path does not reveal its components. Those of one property are found in a table; others, such as `\.owner?.name` or an
/// inherited property with the subclass as root, are read once from a probe, which answers with further probes.
enum KeyPathProbe {
    /// The properties of a path, from the class on; nil if the key path reads anything else.
    static func path(of keyPath: AnyKeyPath, in modelClass: ModelClass) -> [ModelProperty]? {
        func read<Model: PersistentModel>(_: Model.Type) -> [ModelProperty]? {
            guard let path = keyPath as? PartialKeyPath<Model> else { return nil }
            let log = Log()
            let probe = Model(backingData: DefaultBackingData<Model>(ModelRecord(modelClass, probe: log)))
            log.root = probe
            _ = probe[keyPath: path]
            guard !log.isForeign, let last = log.properties.last,
                last.valueType == type(of: keyPath).valueType
                    || last.valueType == unwrappedType(type(of: keyPath).valueType)
            else { return nil }
            return log.properties
        }
        return _openExistential(modelClass.type, do: read)
    }

    /// What was read.
    final class Log {
        var properties: [ModelProperty] = []
        /// Whether a value was read that has no form to answer with.
        var isForeign = false
        var root: AnyObject?

        /// The answer to the reading of a property.
        func value<Value>(of property: TypedProperty<Value>) -> Value? {
            properties.append(property)
            if let destination = property.destination, !property.isToMany {
                func probe<Model: PersistentModel>(_: Model.Type) -> (any PersistentModel)? {
                    Model(backingData: DefaultBackingData<Model>(ModelRecord(ModelClass.of(Model.self), probe: self)))
                }
                return _openExistential(destination, do: probe).flatMap { property.value(of: [$0]) } as? Value
            }
            if let empty = property.emptyOrDefault { return empty }
            return (BlankDecoder.value(of: unwrappedType(Value.self)) as? Value)
        }
    }
}

/// Decodes a blank value of a type: zeros, empty texts, and the first case of an enumeration.
struct BlankDecoder {
    static func value(of type: any Any.Type) -> Any? {
        switch type {
        case is String.Type: return ""
        case is Bool.Type: return false
        case is Int.Type: return 0
        case is Int64.Type: return Int64(0)
        case is Int32.Type: return Int32(0)
        case is Int16.Type: return Int16(0)
        case is Double.Type: return 0.0
        case is Float.Type: return Float(0)
        case is Decimal.Type: return Decimal(0)
        case is Date.Type: return Date(timeIntervalSinceReferenceDate: 0)
        case is UUID.Type: return UUID()
        case is URL.Type: return URL(fileURLWithPath: "/")
        case is Data.Type: return Data()
        default: break
        }
        if let iterable = type as? any CaseIterable.Type {
            func first<T: CaseIterable>(_: T.Type) -> Any? { T.allCases.first }
            return first(iterable)
        }
        if let collection = type as? any ExpressibleByArrayLiteral.Type {
            func empty<T: ExpressibleByArrayLiteral>(_: T.Type) -> Any { T() }
            return _openExistential(collection, do: empty)
        }
        return nil
    }
}
