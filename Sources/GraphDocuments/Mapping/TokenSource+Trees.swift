extension TokenSource {
    /// Reads a value whose first token is given, with its nested values. No member has a special meaning.
    ///
    /// - Parameter first: The name of an object's first member, if it has been read already.
    mutating func readPlainTree(_ token: DocumentToken, first: String? = nil, depthLimit: Int) throws -> ReadableValue {
        var frames: [TreeFrame] = []
        var token = token
        var pendingKey = first
        while true {
            var finished: ReadableValue?
            switch token {
            case .beginArray: frames.append(TreeFrame(isObject: false))
            case .beginObject: frames.append(TreeFrame(isObject: true))
            case .endArray, .endObject:
                guard let frame = frames.popLast() else {
                    throw DocumentError(.syntax, "A closing bracket has no opening one.", at: place)
                }
                finished = frame.isObject ? .dictionary(frame.members) : .array(frame.values)
            case .key:
                frames[frames.count - 1].key = tokenText()
                token = try next()
                continue
            default: finished = .value(try plainValue(token))
            }
            guard frames.count <= depthLimit else {
                throw DocumentError(.limit, "The document nests deeper than \(depthLimit) levels.", at: place)
            }
            if let finished {
                guard let top = frames.indices.last else { return finished }
                frames[top].add(finished)
            }
            if let key = pendingKey {
                frames[frames.count - 1].key = key
                pendingKey = nil
            }
            token = try next()
        }
    }

    /// A scalar with the type of the format alone; a number that is not the shortest text of a double is a decimal.
    private mutating func plainValue(_ token: DocumentToken) throws -> GraphValue {
        let value = try self.value(token, as: .undefined)
        guard token == .number, case .double(let double) = value else { return value }
        let text = tokenText()
        guard text.utf8.count > 16 else { return value }
        let decimal = try self.value(token, as: .decimal)
        // Compared as numbers, because the texts may have different exponents.
        guard case .decimal = decimal, decimal != TextValue.anyValue(double.description, as: .decimal) else {
            return value
        }
        return decimal
    }
}

/// An array or object that is being read.
private struct TreeFrame {
    let isObject: Bool
    var key = ""
    var members: [ReadableValue.Member] = []
    var values: [ReadableValue] = []

    init(isObject: Bool) { self.isObject = isObject }

    mutating func add(_ value: ReadableValue) {
        if isObject {
            members.append(.init(name: key, value: value))
        } else {
            values.append(value)
        }
    }
}
