import Foundation
import ModelFiles
import PredicateLanguage
import Synchronization

/// The structure of a predicate without its captured values: the key under which its translation is cached.
///
/// The type of the whole expression determines the types of its nodes. A shape adds what types do not contain: key paths, operators,
/// the identity of variables, and those properties of captured values on which the translation depends.
struct PredicateShape: Hashable {
    private var words: [UInt]

    fileprivate init(_ types: [any Any.Type]) { words = types.map { UInt(bitPattern: ObjectIdentifier($0)) } }

    fileprivate mutating func add(_ word: UInt) { words.append(word) }
}

/// The position of a node in the tree of a predicate.
struct NodePlace: Hashable {
    private var bits: UInt64 = 1

    /// The position of one of the node's children.
    func part(_ number: Int) -> NodePlace {
        var place = self
        place.bits = (bits &+ UInt64(number)) &* 0x9E37_79B9_7F4A_7C15
        return place
    }
}

/// A node that adds itself and its children to a shape.
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
        (expression as? any TranslatableExpression)?.read(&self, at: place)
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

    /// Adds the properties of a captured value on which the translation depends: whether it is nil, a Boolean's value, whether a text
    /// is empty, and whether a sequence has an element that is nil.
    mutating func add(captured value: Any?, at place: NodePlace) {
        let value = unwrapped(value)
        captured.append((place, value))
        switch value {
        case nil: shape.add(0)
        case let value as Bool: shape.add(value ? 1 : 2)
        case let value? where isEmptyText(value) != nil: shape.add(isEmptyText(value) == true ? 3 : 4)
        case let value? where StoredPrimitive.of(type(of: value)) != nil: shape.add(7)
        case let value as any Sequence: shape.add(hasNil(value) ? 5 : 6)
        default: shape.add(7)
        }
    }
}

/// Whether a text is empty; nil for other values. A program adds no other types of texts.
func isEmptyText(_ value: Any) -> Bool? {
    switch value {
    case let text as String: text.isEmpty
    case let text as Substring: text.isEmpty
    default: nil
    }
}

/// Whether an element of a sequence is nil. Costs nothing if the elements are not optional.
func hasNil<Elements: Sequence>(_ elements: Elements) -> Bool {
    Elements.Element.self is any OptionalType.Type && elements.contains { unwrapped($0) == nil }
}

/// The placeholders for captured values in one translation.
final class CapturedPlaces {
    /// The indexes of the captured values, by the positions of their nodes.
    private let positions: [NodePlace: Int]
    /// The value of each placeholder, by its name: the index of the captured value, and its conversion.
    private(set) var values: [String: (position: Int, stored: (Any) throws -> Any)] = [:]
    /// Whether the translation depends on more of a captured value than the shape contains, so that it cannot be reused.
    fileprivate(set) var dependsOnValues: Bool

    init(_ reader: PredicateReader) {
        positions = Dictionary(
            reader.captured.enumerated().map { ($1.place, $0) }, uniquingKeysWith: { first, _ in first })
        // Two values at the same position cannot be told apart.
        dependsOnValues = positions.count < reader.captured.count
    }

    /// Notes that the translation uses a value. The shape contains nothing about a value that the reader has not read.
    func note(_ place: NodePlace) {
        if positions[place] == nil { dependsOnValues = true }
    }

    /// A placeholder for a value; nil if the reader has not read it.
    fileprivate func variable(for place: NodePlace, stored: @escaping (Any) throws -> Any) -> String? {
        guard let position = positions[place] else { return nil }
        let name = "captured\(values.count)"
        values[name] = (position, stored)
        return name
    }
}

/// A captured value in a translation.
struct CapturedValue {
    /// The value. The translation may depend only on those properties that the shape contains; otherwise it uses ``fixed``.
    let value: Any
    let place: NodePlace
    let places: CapturedPlaces?
    /// Computes the value from the captured one.
    private var derivation: ((Any) throws -> Any) = { $0 }

    init(_ value: Any, at place: NodePlace, in places: CapturedPlaces?) {
        (self.value, self.place, self.places) = (value, place, places)
    }

    /// The value as a part of the translation, which then cannot be reused.
    var fixed: Any {
        places?.dependsOnValues = true
        return value
    }

    /// A part of the value.
    func derived(_ part: @escaping (Any) throws -> Any) rethrows -> CapturedValue {
        var captured = CapturedValue(try part(value), at: place, in: places)
        captured.derivation = { [derivation] in try part(derivation($0)) }
        return captured
    }

    /// The value, or its placeholder, in the form in which the engine compares it.
    func expression(_ stored: @escaping (Any) throws -> Any) throws -> ExpressionNode {
        if let places, let name = places.variable(for: place, stored: { [derivation] in try stored(derivation($0)) }) {
            return .variable(name)
        }
        return .constant(value: try stored(value))
    }
}
