import Foundation
import PredicateLanguage
import Synchronization

/// What a predicate consists of, without the values that it has captured.
///
/// Predicates of one shape have one translation, in which the captured values have places. The types of the nodes follow from that of
/// the whole expression, so that only what is not in a type is read: key paths, operators, which variable a node means, and what of a
/// captured value decides about the translation.
struct PredicateShape: Hashable {
    private var words: [UInt]

    fileprivate init(_ types: [any Any.Type]) { words = types.map { UInt(bitPattern: ObjectIdentifier($0)) } }

    fileprivate mutating func add(_ word: UInt) { words.append(word) }
}

/// Where a node is in a predicate.
struct NodePlace: Hashable {
    private var bits: UInt64 = 1

    /// The place of one of the node's parts.
    func part(_ number: Int) -> NodePlace {
        var place = self
        place.bits = (bits &+ UInt64(number)) &* 0x9E37_79B9_7F4A_7C15
        return place
    }
}

/// A node whose parts and values can be read.
protocol ShapedExpression {
    func read(_ reader: inout PredicateReader, at place: NodePlace)
}

/// Reads the shape and the captured values of a predicate.
struct PredicateReader {
    private(set) var shape: PredicateShape
    /// The captured values, in the order of their nodes.
    private(set) var captured: [(place: NodePlace, value: Any?)] = []
    /// The key paths, whose addresses are in the shape.
    private(set) var keyPaths: [AnyKeyPath] = []
    private var variables: [PredicateExpressions.VariableID] = []

    init<T: PersistentModel>(_ predicate: Predicate<T>) {
        shape = PredicateShape([T.self, type(of: predicate.expression)])
        add(predicate.variable.key)
        read(predicate.expression, at: NodePlace())
    }

    mutating func read(_ expression: Any, at place: NodePlace) {
        (expression as? any ShapedExpression)?.read(&self, at: place)
    }

    /// Reads the two parts of a node.
    mutating func read(_ one: Any, _ other: Any, at place: NodePlace) {
        read(one, at: place.part(0))
        read(other, at: place.part(1))
    }

    mutating func add(_ keyPath: AnyKeyPath) {
        keyPaths.append(keyPath)
        shape.add(UInt(bitPattern: ObjectIdentifier(keyPath)))
    }

    mutating func add(_ variable: PredicateExpressions.VariableID) {
        let known = variables.firstIndex(of: variable)
        if known == nil { variables.append(variable) }
        shape.add(UInt(known ?? variables.count - 1))
    }

    mutating func add(operator number: UInt) { shape.add(number) }

    /// Adds what of a captured value decides about the translation: whether it is nil, true, empty, or has elements that are nil.
    mutating func add(captured value: Any?, at place: NodePlace) {
        let value = unwrapped(value)
        captured.append((place, value))
        switch value {
        case nil: shape.add(0)
        case let value as Bool: shape.add(value ? 1 : 2)
        case let value as String: shape.add(value.isEmpty ? 3 : 4)
        case let value as any OptionalElements: shape.add(value.hasNil ? 5 : 6)
        default: shape.add(7)
        }
    }
}

/// A sequence whose elements may be nil.
private protocol OptionalElements {
    var hasNil: Bool { get }
}

extension Array: OptionalElements where Element: OptionalType {
    fileprivate var hasNil: Bool { contains { unwrapped($0) == nil } }
}

extension Set: OptionalElements where Element: OptionalType {
    fileprivate var hasNil: Bool { contains { unwrapped($0) == nil } }
}

/// The places of captured values in one translation.
final class CapturedPlaces {
    /// The positions among the values that were read.
    private let positions: [NodePlace: Int]
    /// What becomes of a value, by the name of the variable that stands for it.
    private(set) var values: [String: (position: Int, stored: (Any) throws -> Any)] = [:]
    /// Whether a value became a part of the translation, which is then that of no other value.
    fileprivate(set) var isOnlyForItsValues: Bool

    init(_ reader: PredicateReader) {
        positions = Dictionary(
            reader.captured.enumerated().map { ($1.place, $0) }, uniquingKeysWith: { first, _ in first })
        // There is no telling two values at the same place apart.
        isOnlyForItsValues = positions.count < reader.captured.count
    }

    /// Notes that the translation knows a value, which is not in the shape if it was not read.
    func note(_ place: NodePlace) {
        if positions[place] == nil { isOnlyForItsValues = true }
    }

    /// The variable that stands for a value; nil if it was not read.
    fileprivate func variable(for place: NodePlace, stored: @escaping (Any) throws -> Any) -> String? {
        guard let position = positions[place] else { return nil }
        let name = "captured\(values.count)"
        values[name] = (position, stored)
        return name
    }
}

/// A captured value in a translation.
struct CapturedValue {
    /// The value. Only what is in the shape may decide about the translation; see ``fixed``.
    let value: Any
    let place: NodePlace
    let places: CapturedPlaces?
    /// The value from the one at the place.
    private var derivation: ((Any) throws -> Any) = { $0 }

    init(_ value: Any, at place: NodePlace, in places: CapturedPlaces?) {
        (self.value, self.place, self.places) = (value, place, places)
    }

    /// The value, as a part of the translation.
    var fixed: Any {
        places?.isOnlyForItsValues = true
        return value
    }

    /// A part of the value.
    func derived(_ part: @escaping (Any) throws -> Any) rethrows -> CapturedValue {
        var captured = CapturedValue(try part(value), at: place, in: places)
        captured.derivation = { [derivation] in try part(derivation($0)) }
        return captured
    }

    /// The expression of the value in the form in which the engine compares it.
    func expression(_ stored: @escaping (Any) throws -> Any) throws -> ExpressionNode {
        if let places, let name = places.variable(for: place, stored: { [derivation] in try stored(derivation($0)) }) {
            return .variable(name)
        }
        return .constant(value: try stored(value))
    }
}
