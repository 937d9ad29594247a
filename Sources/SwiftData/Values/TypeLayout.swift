@_spi(Reflection) import Swift

// What a type's metadata says: the stored properties of a structure, and the cases of an enumeration. Apple's framework derives the
// columns of a composite attribute from the same source, so that they do not depend on how a type encodes itself.

enum StructureLayout {
    struct Field {
        let name: String
        let type: any Any.Type
    }

    /// The stored properties of a structure, in the order of their declaration; nil if the type is not a structure.
    static func fields(of type: any Any.Type) -> [Field]? {
        guard EnumerationLayout.kind(of: type) == .structure else { return nil }
        var fields: [Field] = []
        let isComplete = _forEachField(of: type) { name, _, type, _ in
            fields.append(Field(name: String(cString: name), type: type))
            return true
        }
        return isComplete ? fields : nil
    }
}

enum EnumerationLayout {
    enum Kind {
        case structure, enumeration, optional, other
    }

    /// The kinds of metadata: `MetadataKind.def` of the Swift runtime, a part of the stable ABI on Apple's platforms.
    static func kind(of type: any Any.Type) -> Kind {
        switch metadata(of: type).load(as: Int.self) {
        case 0x200: .structure
        case 0x201: .enumeration
        case 0x202: .optional
        default: .other
        }
    }

    static func isEnumeration(_ type: any Any.Type) -> Bool { kind(of: type) == .enumeration }

    /// The cases of an enumeration: those with a payload first, then the others, each in the order of the declaration. Nil if the
    /// type is not an enumeration.
    static func cases(of type: any Any.Type) -> [ValueForm.EnumerationCase]? {
        guard isEnumeration(type) else { return nil }
        // Unsafe because Swift has no public reflection of cases. The layout is that of `TargetEnumDescriptor` and
        // `FieldDescriptor` in the documentation of the runtime's ABI.
        let descriptor = metadata(of: type).load(fromByteOffset: MemoryLayout<Int>.size, as: UnsafeRawPointer.self)
        guard let fields = relative(descriptor + 16) else { return nil }
        let recordSize = Int(fields.load(fromByteOffset: 10, as: UInt16.self))
        let count = Int(fields.load(fromByteOffset: 12, as: UInt32.self))
        return (0..<count).compactMap { index in
            let record = fields + 16 + index * recordSize
            guard let name = relative(record + 8) else { return nil }
            return ValueForm.EnumerationCase(
                name: String(cString: name.assumingMemoryBound(to: CChar.self)), hasPayload: relative(record + 4) != nil
            )
        }
    }

    /// The cases of an enumeration without payloads as values; nil for other types, and for more than 256 cases.
    static func values<Value>(of type: Value.Type) -> [Value]? {
        guard let cases = cases(of: type), !cases.isEmpty, !cases.contains(where: \.hasPayload),
            MemoryLayout<Value>.size == (cases.count == 1 ? 0 : 1)
        else { return nil }
        // Unsafe because Swift makes no value of a number. By the ABI the byte of such a value is the number of its case.
        return (0..<cases.count).map { number in
            withUnsafeBytes(of: UInt8(number)) { $0.load(as: Value.self) }
        }
    }

    fileprivate static func metadata(of type: any Any.Type) -> UnsafeRawPointer {
        unsafeBitCast(type, to: UnsafeRawPointer.self)
    }

    /// The address that a relative pointer leads to; nil if it is zero.
    private static func relative(_ address: UnsafeRawPointer) -> UnsafeRawPointer? {
        let offset = address.load(as: Int32.self)
        return offset == 0 ? nil : address + Int(offset)
    }
}

// The first question whether a type conforms to a protocol makes the runtime search all conformances of the program, a quarter of a
// million instructions in one with many. Types of values are therefore asked only where the metadata leaves the answer open.

enum OptionalLayout {
    /// The type that an optional type wraps; nil if the type is not optional.
    static func wrappedType(of type: any Any.Type) -> (any Any.Type)? {
        guard EnumerationLayout.kind(of: type) == .optional else { return nil }
        // Unsafe because Swift has no public reflection of generic arguments. They follow the kind and the descriptor.
        return EnumerationLayout.metadata(of: type).load(
            fromByteOffset: 2 * MemoryLayout<Int>.size, as: Any.Type.self)
    }
}

extension StructureLayout {
    /// The name of the stored property that a key path of a structure leads to; nil for other key paths.
    static func name(of keyPath: AnyKeyPath, in type: any Any.Type) -> String? {
        func offset<Root>(_: Root.Type) -> Int? {
            (keyPath as? PartialKeyPath<Root>).flatMap { MemoryLayout<Root>.offset(of: $0) }
        }
        guard let offset = _openExistential(type, do: offset) else { return nil }
        var found: String?
        _ = _forEachField(of: type) { name, start, fieldType, _ in
            if start == offset, fieldType == Swift.type(of: keyPath).valueType { found = String(cString: name) }
            return found == nil
        }
        return found
    }
}
