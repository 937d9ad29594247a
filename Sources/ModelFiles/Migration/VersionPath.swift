/// The steps from one version of a model to a later one.
///
/// A version is an index in the list of versions in order. A step with a mapping model may skip versions. An inferred
/// step skips versions only where no other steps exist, because it does not have the effects of the skipped versions,
/// such as their renamed properties.
package enum VersionPath {
    /// A step between two versions.
    package struct Step: Sendable, Hashable {
        /// The index of the older version.
        package var from: Int
        /// The index of the newer version.
        package var to: Int
        /// Whether a mapping model migrates; otherwise the step is inferred.
        package var isMapped: Bool
    }

    /// The steps from a version to a later one: those with the fewest versions skipped by inference, and of these the fewest; nil if
    /// there are none. Cost: that of ``all(from:to:isMapped:isInferred:)``.
    package static func steps(
        from start: Int, to end: Int, isMapped: (Int, Int) throws -> Bool, isInferred: (Int, Int) throws -> Bool
    ) rethrows -> [Step]? {
        guard start <= end else { return nil }
        return try all(from: start, to: end, isMapped: isMapped, isInferred: isInferred)[0]
    }

    /// The steps to the last of several versions from each of them, in their order.
    ///
    /// Cost: half the square of the number of versions in calls of `isMapped`. `isInferred` is called for consecutive versions, and
    /// for others only where they would be a better way than the one that is known.
    package static func all(
        from start: Int, to end: Int, isMapped: (Int, Int) throws -> Bool, isInferred: (Int, Int) throws -> Bool
    ) rethrows -> [[Step]?] {
        struct Way {
            var skipped: Int
            var count: Int
            var step: Step?
        }
        var ways: [Int: Way] = [end: Way(skipped: 0, count: 0)]
        for origin in (start..<end).reversed() {
            // The nearest version comes first: a way over it skips few, so that farther ones rarely need an inference.
            for version in (origin + 1)...end {
                guard let rest = ways[version] else { continue }
                let isMapped = try isMapped(origin, version)
                let skipped = rest.skipped + (isMapped ? 0 : version - origin - 1)
                let count = rest.count + 1
                if let best = ways[origin], (best.skipped, best.count) <= (skipped, count) { continue }
                guard try isMapped || isInferred(origin, version) else { continue }
                ways[origin] = Way(
                    skipped: skipped, count: count, step: Step(from: origin, to: version, isMapped: isMapped))
            }
        }
        return (start...end).map { version in
            guard let way = ways[version] else { return nil }
            return sequence(first: way) { way in way.step.flatMap { ways[$0.to] } }.compactMap(\.step)
        }
    }
}
