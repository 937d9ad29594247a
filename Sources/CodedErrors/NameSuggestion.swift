/// Suggestions for misspelt names.
package enum NameSuggestion {
    /// The name with the smallest edit distance to the given one, if it is small enough for a typing error; otherwise the shortest
    /// that contains it, such as `LoggerMessageEntity` for `LoggerMessage`. Of equally near ones the first in alphabetical order. Nil
    /// for a name of more than 64 characters.
    ///
    /// Cost: for each name of similar length, the product of both lengths.
    package static func nearest(to name: String, in names: some Sequence<String>) -> String? {
        guard name.utf8.count <= longest * 4 else { return nil }
        let wanted = Array(name.lowercased())
        guard wanted.count <= longest else { return nil }
        let limit = max(1, wanted.count / 3)
        var best: (name: String, distance: Int)?
        for candidate in names {
            let letters = Array(candidate.lowercased())
            // The edit distance is at least the difference of the lengths.
            guard abs(letters.count - wanted.count) <= limit else { continue }
            let distance = distance(wanted, letters)
            // Names without a common letter are not similar.
            guard distance <= limit, distance < wanted.count else { continue }
            if let known = best, (known.distance, known.name) <= (distance, candidate) { continue }
            best = (candidate, distance)
        }
        return best?.name ?? shortest(containing: name, in: names)
    }

    private static func shortest(containing name: String, in names: some Sequence<String>) -> String? {
        // A single letter or two are in many names.
        guard name.utf8.count > 2 else { return nil }
        let wanted = name.lowercased()
        return names.filter { $0.lowercased().contains(wanted) }.min { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
    }

    private static let longest = 64

    /// ` Did you mean "Note"?`, with a leading space, or an empty text.
    package static func question(for name: String, in names: some Sequence<String>) -> String {
        nearest(to: name, in: names).map { " Did you mean \"\($0)\"?" } ?? ""
    }

    /// The question for a similar name; without one, all names if there are at most 20, and otherwise the first 20: ` There are: a, b.`
    package static func advice(for name: String, in names: some Sequence<String>) -> String {
        let question = question(for: name, in: names)
        guard question.isEmpty else { return question }
        let all = names.sorted()
        guard !all.isEmpty else { return "" }
        let more = all.count > 20 ? ", and \(all.count - 20) more" : ""
        return " There are: \(all.prefix(20).joined(separator: ", "))\(more)."
    }

    /// The sentence for an entity that a model does not have, and the advice.
    package static func noEntity(_ name: String, in names: some Sequence<String>) -> String {
        "The model has no entity \"\(name)\".\(advice(for: name, in: names))"
    }

    /// The number of characters to insert, delete, replace, or exchange with their neighbour.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var before: [Int] = []
        var last = Array(0...right.count)
        for i in left.indices {
            var row = [i + 1]
            for j in right.indices {
                var best = min(last[j] + (left[i] == right[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    best = min(best, before[j - 1] + 1)
                }
                row.append(best)
            }
            (before, last) = (last, row)
        }
        return last[right.count]
    }
}
