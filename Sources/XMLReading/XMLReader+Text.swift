/// Text, references and the values of attributes.
extension XMLReader {
    /// Reads a piece of text up to the next tag, or to the end of the window. Returns false if there is none.
    func readText() throws -> Bool {
        scratch.removeAll(keepingCapacity: true)
        while true {
            takePlainBytes(1)
            if input.position == input.end {
                if !scratch.isEmpty { return true }
                guard try input.fill() else { return false }
                continue
            }
            switch input.base[input.position] {
            case UInt8(ascii: "<"): return !scratch.isEmpty
            case UInt8(ascii: "]"):
                if try input.take("]]>") { throw failure("The text contains \"]]>\".") }
                takeByte()
            case let byte: try readSpecial(byte)
            }
        }
    }

    /// Reads a piece of a CDATA section. Returns false if the section ends without more text.
    func readSection() throws -> Bool {
        scratch.removeAll(keepingCapacity: true)
        while true {
            takePlainBytes(1)
            if input.position == input.end {
                if !scratch.isEmpty { return true }
                guard try input.fill() else { throw truncated }
                continue
            }
            switch input.base[input.position] {
            case UInt8(ascii: "]"):
                if try input.take("]]>") {
                    isInSection = false
                    return !scratch.isEmpty
                }
                takeByte()
            case UInt8(ascii: "<"), UInt8(ascii: "&"): takeByte()
            case let byte: try readSpecial(byte)
            }
        }
    }

    /// Reads the value of an attribute with its quotation marks.
    func readAttributeValue(_ name: String) throws -> String {
        guard let quote = try input.peek(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw try unexpected("The value of the attribute \(name) has no quotation marks.")
        }
        input.position += 1
        scratch.removeAll(keepingCapacity: true)
        while true {
            takePlainBytes(2)
            guard let byte = try input.peek() else { throw truncated }
            switch byte {
            case quote:
                input.position += 1
                return text
            case UInt8(ascii: "\""), UInt8(ascii: "'"): takeByte()
            case UInt8(ascii: "<"): throw failure("The value of the attribute \(name) contains \"<\".")
            case 0x09, 0x0A:
                scratch.append(0x20)
                input.position += 1
            case 0x0D:
                _ = try input.take("\r\n") || input.take("\r")
                scratch.append(0x20)
            default:
                // The window may have moved since the plain bytes were taken.
                if XMLCharacters.plainBytes[Int(byte)] & 2 == 0 { try readSpecial(byte) }
            }
        }
    }

    /// Appends the bytes that stand for themselves, up to the end of the window.
    private func takePlainBytes(_ kind: UInt8) {
        let base = UnsafePointer(input.base)
        let start = input.position
        let end = input.end
        var index = start
        XMLCharacters.plainBytes.withUnsafeBufferPointer { table in
            while index < end, table[Int(base[index])] & kind != 0 { index += 1 }
        }
        guard index > start else { return }
        scratch.append(contentsOf: UnsafeBufferPointer(start: base + start, count: index - start))
        input.position = index
    }

    private func takeByte() {
        scratch.append(input.base[input.position])
        input.position += 1
    }

    /// Reads a reference, a line end, or a character whose first byte is not plain.
    private func readSpecial(_ byte: UInt8) throws {
        switch byte {
        case UInt8(ascii: "&"): try readReference()
        case 0x0D:
            _ = try input.take("\r\n") || input.take("\r")
            scratch.append(0x0A)
        case 0xEF:
            // A character is always whole in the window.
            let bytes = UnsafeBufferPointer(start: input.base + input.position, count: 3)
            guard !(bytes[1] == 0xBF && bytes[2] >= 0xBE) else { throw notAllowed() }
            scratch.append(contentsOf: bytes)
            input.position += 3
        default: throw notAllowed()
        }
    }

    private func notAllowed() -> XMLError { failure("The text contains a character that XML does not allow.") }

    private func readReference() throws {
        input.position += 1
        if try input.take("#") {
            let isHexadecimal = try input.take("x")
            let radix: UInt32 = isHexadecimal ? 16 : 10
            var value: UInt32 = 0
            var hasDigits = false
            while let byte = try input.peek(), let digit = digit(byte), digit < radix {
                hasDigits = true
                // A value that is too large stays so, whatever follows.
                value = min(value * radix + digit, 0x110000)
                input.position += 1
            }
            guard hasDigits, try input.take(";") else {
                throw try unexpected("A reference of a character is malformed.")
            }
            guard XMLCharacters.isAllowed(value), let scalar = Unicode.Scalar(value) else { throw notAllowed() }
            scratch.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        } else if try input.take("amp;") {
            scratch.append(UInt8(ascii: "&"))
        } else if try input.take("lt;") {
            scratch.append(UInt8(ascii: "<"))
        } else if try input.take("gt;") {
            scratch.append(UInt8(ascii: ">"))
        } else if try input.take("quot;") {
            scratch.append(UInt8(ascii: "\""))
        } else if try input.take("apos;") {
            scratch.append(UInt8(ascii: "'"))
        } else {
            let name = try readName(of: "an entity")
            throw try unexpected("The entity &\(name); is not defined.")
        }
    }

    private func digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a")) + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A")) + 10
        default: nil
        }
    }
}
