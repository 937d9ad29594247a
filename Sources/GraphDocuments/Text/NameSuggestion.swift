/// Suggestions for misspelt names.
public enum NameSuggestion {
    /// The name with the smallest edit distance to the given one, if it is small enough for a typing error. Of equally
    /// near ones the first in alphabetical order.
    public static func nearest(to name: String, in names: some Sequence<String>) -> String? {
        let wanted = Array(name.lowercased())
        var best: (name: String, distance: Int)?
        for candidate in names.sorted() {
            let distance = distance(wanted, Array(candidate.lowercased()))
            if distance <= max(1, wanted.count / 3), distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.name
    }

    /// ` Did you mean "Note"?`, with a leading space, or an empty text.
    public static func question(for name: String, in names: some Sequence<String>) -> String {
        nearest(to: name, in: names).map { " Did you mean \"\($0)\"?" } ?? ""
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
