import Foundation
import Synchronization

/// Caches the translations of predicates by their shapes. Only the first predicate of a shape is translated. Others get its
/// translation with their own captured values.
final class PredicateTranslations: Sendable {
    static let shared = PredicateTranslations()

    // `@unchecked Sendable` because it is immutable, and its functions capture types and key paths only.
    private struct Known: @unchecked Sendable {
        let template: TranslatedPredicate
        let values: [String: (position: Int, stored: (Any) throws -> Any)]
        /// Retained, because the shape contains their addresses.
        let keyPaths: [AnyKeyPath]
        /// Whether each predicate of this shape has to be translated.
        let dependsOnValues: Bool
    }

    private struct State {
        var known: [PredicateShape: Known] = [:]
        var count = 0
    }

    private let state = Mutex(State())

    /// Each key path that is made at run time gives another shape.
    private static let limit = 1_000

    /// How many times a predicate has been translated.
    var count: Int { state.withLock { $0.count } }

    func translation<T: PersistentModel>(of predicate: Predicate<T>) -> TranslatedPredicate {
        let reader = PredicateReader(predicate)
        if let known = state.withLock({ $0.known[reader.shape] }) {
            if !known.dependsOnValues, let filled = fill(known, reader) { return filled }
            return translate(predicate, nil)
        }
        let places = CapturedPlaces(reader)
        let template = translate(predicate, places)
        let made = Known(
            template: template, values: places.values, keyPaths: reader.keyPaths,
            dependsOnValues: places.dependsOnValues)
        state.withLock { state in
            if state.known.count >= Self.limit { state.known = [:] }
            state.known[reader.shape] = made
        }
        if !made.dependsOnValues, let filled = fill(made, reader) { return filled }
        return translate(predicate, nil)
    }

    private func translate<T: PersistentModel>(
        _ predicate: Predicate<T>, _ places: CapturedPlaces?
    ) -> TranslatedPredicate {
        state.withLock { $0.count += 1 }
        return TranslatedPredicate(predicate, places)
    }

    /// The translation for the captured values; nil if one of them has no form in SQL.
    private func fill(_ known: Known, _ reader: PredicateReader) -> TranslatedPredicate? {
        try? known.template.filled { name in
            guard let (position, stored) = known.values[name], let value = reader.captured[position].value else {
                return nil
            }
            return try stored(value)
        }
    }
}
