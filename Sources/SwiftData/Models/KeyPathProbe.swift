import CoreData
import Foundation

/// Finds the properties that a key path reads, by reading it from an object that notes them.
///
/// A key path does not reveal its components. Those of one property are found in a table; others, such as `\.owner?.name` or an
/// inherited property with the subclass as root, are read once from a probe, which answers with further probes.
///
/// The key path of a computed property reads stored ones too. So each answer must be what the key path returns, for several answers, and
/// nothing may be read beside the path: `!isDone` and `abs(score)` are not the properties that they read.
enum KeyPathProbe {
    /// The properties of a path, from the class on; nil if the key path reads anything else.
    static func path(of keyPath: AnyKeyPath, in modelClass: ModelClass) -> [ModelProperty]? {
        guard modelClass.isProbeable else { return nil }
        func read<Model: PersistentModel>(_: Model.Type) -> [ModelProperty]? {
            guard let path = keyPath as? PartialKeyPath<Model> else { return nil }
            let valueType = type(of: keyPath).valueType
            let isOptional = unwrappedType(valueType) != valueType
            var found: [ModelProperty]?
            for answers in ProbeAnswers.all {
                let log = Log(answers)
                let record = ModelRecord(modelClass, probe: log)
                log.next = record
                defer { log.end() }
                let probe = Model(backingData: DefaultBackingData<Model>(record))
                let value: Any = probe[keyPath: path]
                guard !log.isForeign, let last = log.properties.last, log.isAnswer(value),
                    found?.elementsEqual(log.properties, by: ===) != false,
                    last.valueType == valueType || last.valueType == unwrappedType(valueType),
                    // A property that may be nil is not what the key path returns. Reading it again could unwrap the answer nil.
                    isOptional || !last.isOptional || last.isRelationship
                else { return nil }
                found = log.properties
            }
            return found
        }
        return _openExistential(modelClass.type, do: read)
    }

    /// What was read.
    final class Log {
        private let answers: ProbeAnswers
        private(set) var properties: [ModelProperty] = []
        /// Whether something was read that is not the next part of a path.
        private(set) var isForeign = false
        /// The record that the next part of the path reads.
        var next: ModelRecord?
        private var answer: Any?

        init(_ answers: ProbeAnswers) { self.answers = answers }

        /// The answer to the reading of a property; nil if the type has none.
        func value<Value>(of property: TypedProperty<Value>, by record: ModelRecord) -> Value? {
            if record !== next { isForeign = true }
            properties.append(property)
            next = nil
            let value = value(of: property)
            answer = value
            return value
        }

        private func value<Value>(of property: TypedProperty<Value>) -> Value? {
            if let destination = property.destination {
                let probe = probe(of: destination)
                guard property.isToMany else { return property.value(of: [probe]) as? Value }
                // Many members: one that is left out, or another order, shows that the key path does not return all of them.
                let other = self.probe(of: destination)
                next = nil
                return property.value(of: [other] + [any PersistentModel](repeating: probe, count: 300)) as? Value
            }
            return answers.value(of: property)
        }

        private func probe(of destination: any PersistentModel.Type) -> any PersistentModel {
            func made<Model: PersistentModel>(_: Model.Type) -> any PersistentModel {
                let record = ModelRecord(ModelClass.of(Model.self), probe: self)
                next = record
                return Model(backingData: DefaultBackingData<Model>(record))
            }
            return _openExistential(destination, do: made)
        }

        /// Releases what refers to the log in turn.
        func end() { (next, answer) = (nil, nil) }

        /// Whether a value is the last answer.
        func isAnswer(_ value: Any) -> Bool {
            guard let answer = unwrapped(answer), let value = unwrapped(value) else {
                return unwrapped(answer) == nil && unwrapped(value) == nil
            }
            if let collection = answer as? [any PersistentModel], let other = value as? [any PersistentModel] {
                return collection.elementsEqual(other, by: ===)
            }
            if let one = answer as? AnyHashable, let other = value as? AnyHashable { return one == other }
            guard type(of: answer) == type(of: value), let one = answer as? any Encodable,
                let other = value as? any Encodable
            else { return false }
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return (try? encoder.encode(one)) == (try? encoder.encode(other))
        }
    }
}

/// One set of the values with which probes answer.
struct ProbeAnswers {
    private let number: Int

    /// Three answers for each type: what a computed property does to one of them may leave it as it is. The first are ones that a
    /// program's code expects, because an index that is out of range would stop the program; a key path that does not return its answer
    /// is not read again. The last answer for an optional is nil.
    static let all = (0..<3).map(ProbeAnswers.init)

    /// The answer of an attribute; nil if there is none for its type.
    func value<Value>(of property: TypedProperty<Value>) -> Value? {
        if number == 2, property.isOptional, let empty = property.emptyOrDefault { return empty }
        return (value(of: unwrappedType(Value.self)) as? Value) ?? property.emptyOrDefault
    }

    /// Whether there is an answer for each value of a property.
    static func exist(for property: ModelProperty) -> Bool {
        property.isRelationship || property.isOptional || property.defaultValue != nil
            || all.allSatisfy { $0.value(of: property.valueType) != nil }
    }

    private static let keys = [UUID(), UUID(), UUID()]

    /// A value of a type. Small numbers of both signs, because the program's own code may compute with them.
    func value(of type: any Any.Type) -> Any? {
        let real = [1, 5.25, -3.75][number]
        switch type {
        case is String.Type: return ["a", "Bé a ", " zÀ"][number]
        case is Bool.Type: return number < 2
        case is Double.Type: return real
        case is Float.Type: return Float(real)
        case is Decimal.Type: return Decimal(real * 100) / 100
        case is Date.Type: return Date(timeIntervalSinceReferenceDate: [0, 12_345.25, -98_765.75][number])
        case is UUID.Type: return Self.keys[number]
        case is URL.Type: return URL(fileURLWithPath: ["/a", "/a/B.c", "/d"][number])
        case is Data.Type: return Data([[1], [5, 2], [3, 9, 1]][number])
        case let integer as any FixedWidthInteger.Type:
            func made<I: FixedWidthInteger>(_: I.Type) -> Any { I(exactly: [1, 5, -3][number]) ?? I(3) }
            return made(integer)
        default: break
        }
        if let value = enumerationCase(of: type) { return value }
        guard let decodable = type as? any Decodable.Type else { return nil }
        return try? decodable.init(from: AnswerDecoder(answers: self))
    }

    private func enumerationCase(of type: any Any.Type) -> Any? {
        if let iterable = type as? any CaseIterable.Type {
            func one<T: CaseIterable>(_: T.Type) -> Any? {
                let cases = Array(T.allCases)
                return cases.isEmpty ? nil : cases[number % cases.count]
            }
            return one(iterable)
        }
        guard let cases = EnumerationLayout.cases(of: type), !cases.isEmpty, !cases.contains(where: \.hasPayload)
        else { return nil }
        func one<T>(_: T.Type) -> Any? {
            guard MemoryLayout<T>.size == 1 else { return nil }
            // Unsafe because Swift makes no case by its number. An enumeration without payloads is this number in one byte.
            return withUnsafeBytes(of: UInt8(number % cases.count)) { $0.load(as: T.self) }
        }
        return _openExistential(type, do: one)
    }
}

/// Decodes a structure whose stored properties have the answers of their types.
private struct AnswerDecoder: Decoder {
    let answers: ProbeAnswers
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Container(answers: answers))
    }
    func unkeyedContainer() -> any UnkeyedDecodingContainer { Empty(answers: answers) }
    func singleValueContainer() -> any SingleValueDecodingContainer { Single(answers: answers) }

    /// Why a type is not decoded.
    struct NoAnswer: Error {}

    private struct Container<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let answers: ProbeAnswers
        let codingPath: [any CodingKey] = []
        let allKeys: [Key] = []

        func contains(_ key: Key) -> Bool { true }
        func decodeNil(forKey key: Key) -> Bool { true }
        func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try answers.decoded() }
        func nestedContainer<K: CodingKey>(keyedBy type: K.Type, forKey key: Key) -> KeyedDecodingContainer<K> {
            KeyedDecodingContainer(Container<K>(answers: answers))
        }
        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer { Empty(answers: answers) }
        func superDecoder() -> any Decoder { AnswerDecoder(answers: answers) }
        func superDecoder(forKey key: Key) -> any Decoder { AnswerDecoder(answers: answers) }
    }

    /// An array without elements.
    private struct Empty: UnkeyedDecodingContainer {
        let answers: ProbeAnswers
        let codingPath: [any CodingKey] = []
        let count: Int? = 0
        let isAtEnd = true
        let currentIndex = 0

        func decodeNil() throws -> Bool { throw NoAnswer() }
        func decode<T: Decodable>(_ type: T.Type) throws -> T { throw NoAnswer() }
        func nestedContainer<K: CodingKey>(keyedBy type: K.Type) throws -> KeyedDecodingContainer<K> {
            throw NoAnswer()
        }
        func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw NoAnswer() }
        func superDecoder() throws -> any Decoder { throw NoAnswer() }
    }

    private struct Single: SingleValueDecodingContainer {
        let answers: ProbeAnswers
        let codingPath: [any CodingKey] = []

        func decodeNil() -> Bool { false }
        func decode<T: Decodable>(_ type: T.Type) throws -> T { try answers.decoded() }
    }
}

extension ProbeAnswers {
    fileprivate func decoded<T: Decodable>() throws -> T {
        guard let value = value(of: unwrappedType(T.self)) as? T else { throw AnswerDecoder.NoAnswer() }
        return value
    }
}
