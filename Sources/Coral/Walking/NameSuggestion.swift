/// Finds what somebody may have meant.
public enum NameSuggestion {
    /// The name that is least different from the given one, where that is a slip of the pen rather than another word.
    /// Of equally near ones the first in alphabetical order.
    public static func nearest(to name: String, in names: some Sequence<String>) -> String? {
        let wanted = Array(name.lowercased())
        var best: (name: String, distance: Int)?
        for candidate in names.sorted() {
            let distance = distance(wanted, Array(candidate.lowercased()))
            if distance <= max(1, wanted.count / 3), distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.name
    }

    /// ` Did you mean "Note"?`, with the space before it, or nothing.
    public static func question(for name: String, in names: some Sequence<String>) -> String {
        nearest(to: name, in: names).map { " Did you mean \"\($0)\"?" } ?? ""
    }

    /// The number of characters to add, drop or replace.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var row = Array(0...right.count)
        for (i, a) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, b) in right.enumerated() {
                let replaced = diagonal + (a == b ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(replaced, row[j] + 1, diagonal + 1)
            }
        }
        return row[right.count]
    }
}
