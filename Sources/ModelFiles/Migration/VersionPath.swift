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

    /// The steps with the fewest versions skipped by inference, and of these the fewest steps; nil if there are none.
    ///
    /// Cost: the square of the number of versions in calls of `isMapped`. `isInferred` is called for consecutive versions, and for
    /// others only if consecutive ones do not suffice, where they would be a better way than the one that is known.
    package static func steps(
        from start: Int, to end: Int, isMapped: (Int, Int) throws -> Bool, isInferred: (Int, Int) throws -> Bool
    ) rethrows -> [Step]? {
        guard start < end else { return start == end ? [] : nil }
        return try search(from: start, to: end, skips: false, isMapped, isInferred)
            ?? search(from: start, to: end, skips: true, isMapped, isInferred)
    }

    private static func search(
        from start: Int, to end: Int, skips: Bool, _ isMapped: (Int, Int) throws -> Bool,
        _ isInferred: (Int, Int) throws -> Bool
    ) rethrows -> [Step]? {
        struct Reached {
            var skipped: Int
            var count: Int
            var step: Step?
        }
        var reached: [Int: Reached] = [start: Reached(skipped: 0, count: 0)]
        for version in (start + 1)...end {
            // From the nearest version back: a way over a near version skips few, so that farther ones rarely need an inference.
            for distance in 1...(version - start) {
                let origin = version - distance
                guard let before = reached[origin] else { continue }
                let isMapped = try isMapped(origin, version)
                guard isMapped || skips || distance == 1 else { continue }
                let skipped = before.skipped + (isMapped ? 0 : distance - 1)
                let count = before.count + 1
                if let best = reached[version], (best.skipped, best.count) <= (skipped, count) { continue }
                guard try isMapped || isInferred(origin, version) else { continue }
                let step = Step(from: origin, to: version, isMapped: isMapped)
                reached[version] = Reached(skipped: skipped, count: count, step: step)
            }
        }
        var steps: [Step] = []
        var version = end
        while version != start {
            guard let step = reached[version]?.step else { return nil }
            steps.append(step)
            version = step.from
        }
        return steps.reversed()
    }
}
