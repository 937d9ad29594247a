/// The differences between two texts in the unified format of `diff -u`, with three lines of context.
package struct UnifiedDiff {
    private enum Line {
        case same(Substring), removed(Substring), inserted(Substring)
    }

    private static let contextSize = 3
    private let path: String
    private let lines: [Line]

    /// - Parameter path: The file's path, printed after `a/` and `b/`.
    package init(from old: String, to new: String, path: String) {
        self.path = path
        let (oldLines, newLines) = (Self.split(old), Self.split(new))
        // Only the lines between the first and the last different one are compared, because the time of the comparison grows
        // with the square of the number of differences.
        let start = zip(oldLines, newLines).prefix { $0 == $1 }.count
        let limit = min(oldLines.count, newLines.count) - start
        let end = min(limit, zip(oldLines.reversed(), newLines.reversed()).prefix { $0 == $1 }.count)
        let middle = Self.compare(
            Array(oldLines[start..<(oldLines.count - end)]), Array(newLines[start..<(newLines.count - end)]))
        lines = oldLines[..<start].map(Line.same) + middle + oldLines[(oldLines.count - end)...].map(Line.same)
    }

    /// Lines with their line breaks, so that a missing line break at the end of the text is a difference.
    private static func split(_ text: String) -> [Substring] {
        var lines: [Substring] = []
        var start = text.startIndex
        while let end = text[start...].firstIndex(where: { $0 == "\n" || $0 == "\r\n" }) {
            let next = text.index(after: end)
            lines.append(text[start..<next])
            start = next
        }
        if start < text.endIndex { lines.append(text[start...]) }
        return lines
    }

    private static func compare(_ old: [Substring], _ new: [Substring]) -> [Line] {
        var removals: Set<Int> = []
        var insertions: Set<Int> = []
        for change in new.difference(from: old) {
            switch change {
            case .remove(let offset, _, _): removals.insert(offset)
            case .insert(let offset, _, _): insertions.insert(offset)
            }
        }
        var lines: [Line] = []
        var (oldIndex, newIndex) = (0, 0)
        while oldIndex < old.count || newIndex < new.count {
            if removals.contains(oldIndex) {
                lines.append(.removed(old[oldIndex]))
                oldIndex += 1
            } else if insertions.contains(newIndex) {
                lines.append(.inserted(new[newIndex]))
                newIndex += 1
            } else {
                lines.append(.same(old[oldIndex]))
                oldIndex += 1
                newIndex += 1
            }
        }
        return lines
    }

    /// The text; empty if there is no difference.
    package var text: String {
        let changed = lines.indices.filter { index in
            if case .same = lines[index] { return false }
            return true
        }
        guard !changed.isEmpty else { return "" }
        var text = "--- a/\(path)\n+++ b/\(path)\n"
        var hunks: [Range<Int>] = []
        for index in changed {
            let range = max(0, index - Self.contextSize)..<min(lines.count, index + Self.contextSize + 1)
            if let last = hunks.last, last.upperBound >= range.lowerBound {
                hunks[hunks.count - 1] = last.lowerBound..<range.upperBound
            } else {
                hunks.append(range)
            }
        }
        var (oldLine, newLine, position) = (1, 1, 0)
        for hunk in hunks {
            oldLine += hunk.lowerBound - position
            newLine += hunk.lowerBound - position
            var (oldCount, newCount) = (0, 0)
            var body = ""
            for line in lines[hunk] {
                let (mark, content): (Character, Substring)
                switch line {
                case .same(let line): (mark, content, oldCount, newCount) = (" ", line, oldCount + 1, newCount + 1)
                case .removed(let line): (mark, content, oldCount) = ("-", line, oldCount + 1)
                case .inserted(let line): (mark, content, newCount) = ("+", line, newCount + 1)
                }
                body.append(mark)
                body += content
                if content.last?.isNewline != true { body += "\n\\ No newline at end of file\n" }
            }
            text += "@@ -\(Self.range(oldLine, oldCount)) +\(Self.range(newLine, newCount)) @@\n" + body
            (oldLine, newLine, position) = (oldLine + oldCount, newLine + newCount, hunk.upperBound)
        }
        return text
    }

    /// A range of lines in the head of a hunk. An empty range is written with the number of the line before it.
    private static func range(_ start: Int, _ count: Int) -> String {
        count == 1 ? "\(start)" : "\(count == 0 ? start - 1 : start),\(count)"
    }
}
