import Foundation

/// The tokens of a tree of dictionaries and arrays.
struct TreeTokens: TokenSource {
    private var root: ReadableValue?
    private var frames: [Frame] = []
    private var leaf = GraphValue.null
    private let depthLimit: Int
    /// The size of the file of the tree.
    let byteCount: Int?
    private var isFinished = false

    private struct Frame {
        var values: [ReadableValue] = []
        var members: [ReadableValue.Member] = []
        var isDictionary: Bool
        var index = 0
        /// Whether the name of the member at `index` has been returned, and its value is next.
        var isAtValue = false
        var count: Int { isDictionary ? members.count : values.count }
    }

    init(_ tree: ReadableValue, byteCount: Int? = nil, limits: DocumentLimits) {
        root = tree
        self.byteCount = byteCount
        depthLimit = limits.depth
    }

    var bytesRead: Int { isFinished ? byteCount ?? 0 : 0 }
    var depth: Int { frames.count }

    mutating func next() throws -> DocumentToken {
        guard let top = frames.indices.last else {
            guard let root else {
                isFinished = true
                return .end
            }
            self.root = nil
            return try open(root)
        }
        guard frames[top].index < frames[top].count else {
            let isDictionary = frames.removeLast().isDictionary
            return isDictionary ? .endObject : .endArray
        }
        let index = frames[top].index
        if frames[top].isDictionary {
            let member = frames[top].members[index]
            if !frames[top].isAtValue {
                frames[top].isAtValue = true
                leaf = .string(member.name)
                return .key
            }
            frames[top].isAtValue = false
            frames[top].index += 1
            return try open(member.value)
        }
        frames[top].index += 1
        return try open(frames[top].values[index])
    }

    private mutating func open(_ tree: ReadableValue) throws -> DocumentToken {
        switch tree {
        case .array(let values):
            try push(Frame(values: values, isDictionary: false))
            return .beginArray
        case .dictionary(let members):
            if members.count == 1, [ValueTag.null.rawValue, ValueTag.formerNull.rawValue].contains(members[0].name),
                members[0].value == .value(.bool(true))
            {
                leaf = .null
                return .null
            }
            if members.count == 1, members[0].name == ValueTag.utf8.rawValue,
                case .value(.data(let data)) = members[0].value,
                let text = String(data: data, encoding: .utf8)
            {
                leaf = .string(text)
                return .string
            }
            try push(Frame(members: members, isDictionary: true))
            return .beginObject
        case .value(let value):
            leaf = value
            switch value {
            case .null: return .null
            case .bool(let flag): return flag ? .true : .false
            case .integer, .double, .float, .decimal: return .number
            case .string: return .string
            default: return .native
            }
        }
    }

    private mutating func push(_ frame: Frame) throws {
        guard frames.count < depthLimit else {
            throw DocumentError(.limit, "The document nests deeper than \(depthLimit) levels.", at: place)
        }
        frames.append(frame)
    }

    mutating func skipValue(after token: DocumentToken) throws {
        if token == .beginArray || token == .beginObject { frames.removeLast() }
    }

    func treeAhead(under name: [UInt8]) -> ReadableValue? {
        guard let frame = frames.last else { return nil }
        return frame.members[frame.index...].first { $0.name.utf8.elementsEqual(name) }?.value
    }

    func tokenText() -> String { TextValue.text(of: leaf) ?? "" }

    func textIs(_ text: [UInt8]) -> Bool {
        if case .string(let string) = leaf { string.utf8.elementsEqual(text) } else { false }
    }

    func value(_ token: DocumentToken, as type: GraphValueType) throws -> GraphValue { leaf.read(as: type) }

    var mark: PlaceMark { PlaceMark(offset: 0, line: 0, column: 0) }

    /// A tree has no lines: the position is a path only.
    var place: DocumentPlace {
        var pointer = ""
        for frame in frames.suffix(64) {
            if frame.isDictionary {
                let index = frame.isAtValue ? frame.index : frame.index - 1
                if frame.members.indices.contains(index) {
                    pointer += "/" + DocumentPlace.escaped(frame.members[index].name)
                }
            } else {
                pointer += "/\(max(frame.index - 1, 0))"
            }
        }
        return DocumentPlace(offset: 0, pointer: (frames.count > 64 ? "…" : "") + pointer)
    }
}
