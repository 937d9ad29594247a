/// The path to a value in a tree.
struct PlainPath {
    private(set) var keys: [any CodingKey] = []

    /// The path as a JSON pointer.
    var pointer: String {
        keys.map { key in
            key.intValue.map { "/\($0)" }
                ?? "/"
                + key.stringValue.split(separator: "~", omittingEmptySubsequences: false).joined(separator: "~0")
                .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "~1")
        }.joined()
    }

    init(_ keys: [any CodingKey] = []) { self.keys = keys }

    static func + (path: PlainPath, key: String) -> PlainPath { PlainPath(path.keys + [PlainKey(key)]) }
    static func + (path: PlainPath, index: Int) -> PlainPath { PlainPath(path.keys + [PlainKey(index)]) }
    static func + (path: PlainPath, key: any CodingKey) -> PlainPath { PlainPath(path.keys + [key]) }
}

/// A member or an element, as a coding key.
struct PlainKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    init(_ index: Int) {
        stringValue = String(index)
        intValue = index
    }

    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(intValue) }
}
