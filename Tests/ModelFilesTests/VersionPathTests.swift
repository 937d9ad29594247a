import ModelFiles
import Testing

/// The steps between versions: the fewest skipped versions, then the fewest steps.
@Suite struct VersionPathTests {
    private func steps(
        _ start: Int, _ end: Int, mapped: [(Int, Int)] = [], inferred: [(Int, Int)]
    ) -> [String]? {
        VersionPath.steps(
            from: start, to: end, isMapped: { from, to in mapped.contains { $0 == (from, to) } },
            isInferred: { from, to in inferred.contains { $0 == (from, to) } }
        )?.map { "\($0.from)\($0.isMapped ? "=" : "-")\($0.to)" }
    }

    @Test func `consecutive versions come before skipped ones`() {
        #expect(steps(0, 2, inferred: [(0, 1), (1, 2), (0, 2)]) == ["0-1", "1-2"])
        #expect(steps(0, 2, inferred: [(0, 1), (0, 2)]) == ["0-2"])
        #expect(steps(1, 1, inferred: []) == [])
        #expect(steps(0, 2, inferred: [(0, 1)]) == nil)
        #expect(steps(2, 0, inferred: [(2, 0)]) == nil)
    }

    @Test func `mapping models may skip versions`() {
        #expect(steps(0, 3, mapped: [(0, 3)], inferred: [(0, 1), (1, 2), (2, 3)]) == ["0=3"])
        #expect(steps(0, 3, mapped: [(0, 2)], inferred: [(0, 1), (2, 3)]) == ["0=2", "2-3"])
        #expect(steps(0, 1, mapped: [(0, 1)], inferred: [(0, 1)]) == ["0=1"])
    }

    /// Every graph of four versions: a path is found if and only if there is one, and no other path skips fewer versions.
    @Test func `the best of all paths is found`() {
        let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
        func ways(_ from: Int, _ edges: [(Int, Int)]) -> [[(Int, Int)]] {
            from == 3 ? [[]] : edges.filter { $0.0 == from }.flatMap { edge in ways(edge.1, edges).map { [edge] + $0 } }
        }
        for mask in 0..<64 {
            let edges = pairs.enumerated().filter { mask >> $0.offset & 1 == 1 }.map(\.element)
            let all = VersionPath.all(
                from: 0, to: 3, isMapped: { _, _ in false },
                isInferred: { from, to in edges.contains { $0 == (from, to) } })
            for (start, found) in all.enumerated() {
                let skipped = ways(start, edges).map { way in (way.reduce(0) { $0 + $1.1 - $1.0 - 1 }, way.count) }
                let best = skipped.min { $0 < $1 }
                #expect(found.map { $0.reduce(0) { $0 + $1.to - $1.from - 1 } } == best?.0)
                #expect(found?.count == best?.1)
            }
        }
    }

    @Test func `ninety versions with one that cannot be inferred need few inferences`() {
        var pairs: Set<[Int]> = []
        let steps = VersionPath.steps(
            from: 0, to: 89, isMapped: { _, _ in false },
            isInferred: { from, to in
                pairs.insert([from, to])
                return !(from == 53 && to > 53)
            })
        #expect(steps?.count == 88)
        #expect(steps?.contains { $0.from == 52 && $0.to == 54 } == true)
        #expect(pairs.count < 200, "\(pairs.count)")
    }
}
