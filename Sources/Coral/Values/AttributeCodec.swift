import CoreData
import GraphDocuments

/// The conversions of the values of one attribute type: between the values of key-value coding and those of documents,
/// from other types of a document, and whether two values are equal. There is one file for each type.
///
/// In `CoralRows` most codecs also conform to `RowCodec`, which reads and writes columns.
package protocol AttributeCodec {
    /// The document's value of a value from key-value coding, which is not nil; nil if it is not of the type, which is possible
    /// for transient properties.
    ///
    /// Throws `ExportError` for a transformable value that cannot be archived.
    func value(of object: Any) throws -> GraphValue?

    /// The value for key-value coding of a value of the type.
    ///
    /// Throws `ImportError` for an invalid URI, a file that may not be read, or an archive that cannot be decoded.
    func object(for value: GraphValue, folder: DocumentFolder) throws -> Any?

    /// A value of another type converted without loss; nil if that is not possible.
    func convert(_ value: GraphValue, by conversion: ValueConversion) -> GraphValue?

    /// Whether a value of a document is the stored one, so that setting it would change nothing.
    func isSame(_ stored: GraphValue, _ given: GraphValue, by equality: ValueEquality) -> Bool
}

extension AttributeCodec {
    package func isSame(_ stored: GraphValue, _ given: GraphValue, by equality: ValueEquality) -> Bool {
        stored == given
    }
}

/// When a value of a document is considered equal to a stored one.
package struct ValueEquality {
    /// The largest difference in seconds of equal dates.
    package var dateTolerance: Double
    /// Whether numbers are compared as SQLite stores them, without negative zeros.
    package var isOfSQLite: Bool
    /// Whether decimals are compared as doubles, as SQLite and the store in PostgreSQL keep them.
    package var comparesDecimalsAsDoubles: Bool
}

extension ValueEquality {
    /// The equality for an import into the stores of a coordinator. Documents with a header state dates exactly.
    package init(_ options: ImportOptions, hasHeader: Bool, coordinator: NSPersistentStoreCoordinator?) {
        dateTolerance = options.dateTolerance ?? (hasHeader ? 0 : 0.0005)
        isOfSQLite = coordinator?.persistentStores.allSatisfy { $0.type == NSSQLiteStoreType } ?? false
        comparesDecimalsAsDoubles =
            coordinator?.persistentStores.allSatisfy {
                $0.type == NSSQLiteStoreType || $0.url?.isOfServer == true
            } ?? false
    }
}

extension GraphSchema.Attribute {
    /// The codec of the declared type. Without the model, a transformable value is one without a declared type.
    package var codec: any AttributeCodec {
        switch type {
        case .integer16, .integer32, .integer64: IntegerCodec(type)
        case .boolean: BooleanCodec()
        case .double: DoubleCodec()
        case .float: FloatCodec()
        case .decimal: DecimalCodec()
        case .string: TextCodec()
        case .date: DateCodec()
        case .binaryData: DataCodec()
        case .uuid: UUIDCodec()
        case .uri: URICodec(name: name)
        case .objectID: ObjectIDCodec()
        case .composite: CompositeCodec(elements: elements)
        case .transformable, .undefined: UndeclaredCodec(type: type)
        }
    }
}

/// An attribute of a model as imports, exports and comparisons access it.
package final class AttributePlan {
    package let name: String
    package let type: GraphSchema.Attribute
    package let codec: any AttributeCodec
    /// Whether the store computes the value.
    package let isDerived: Bool
    /// Whether large values are stored in external files.
    package let mayHaveFile: Bool

    package init(_ attribute: NSAttributeDescription) {
        name = attribute.name
        type = GraphSchema.Attribute(attribute)
        codec = type.type == .transformable ? TransformableCodec(attribute) : type.codec
        isDerived = attribute is NSDerivedAttributeDescription
        mayHaveFile = attribute.allowsExternalBinaryDataStorage
    }

    /// The value of an object. A value whose file does not exist is a reference to that file.
    ///
    /// Throws `ExportError` for a transformable value that cannot be archived.
    package func value(of object: NSManagedObject) throws -> GraphValue {
        guard let value = object.value(forKey: name) else {
            if mayHaveFile, let name = Engine.current.missingFile(of: object, forKey: name) {
                return .file(ExternalFile(missing: name))
            }
            return .null
        }
        return try codec.value(of: value) ?? GraphValue(undeclared: value)
    }

    /// The value for key-value coding of a value of the attribute's type. Files are read from the document's folder.
    ///
    /// Throws `ImportError` for an invalid URI, a file that may not be read, or an archive that cannot be decoded.
    package func object(for value: GraphValue, folder: URL? = nil) throws -> Any? {
        if case .null = value { return nil }
        return try codec.object(for: value, folder: DocumentFolder(folder))
    }
}

/// Converts values of documents to the declared type.
///
/// Values of the declared type are not converted. In strict mode all others are refused. Otherwise lossless conversions
/// are made: numbers in strings and strings for numbers; integers, decimals and fractions into each other; 0, 1,
/// "true", "false", "yes", "no" into booleans; numbers and strings into dates (see `ImportOptions`); Base64 into data;
/// text into UUIDs and URIs; any plain value into a transformable one.
package struct ValueConversion {
    package let isStrict: Bool
    package let numericDates: NumericDates
    package let dates: DateFormats
    /// Whether a value may be NaN. The stores in SQLite and PostgreSQL have only NULL for it, which would lose the value.
    private let permitsNaN: Bool

    package init(_ options: ImportOptions, permitsNaN: Bool = true) {
        self.permitsNaN = permitsNaN
        isStrict = options.mismatchedValues == .fail
        numericDates = options.numericDates
        dates = DateFormats(options.dateFormats + DateFormats.usual)
    }

    /// The value converted to the attribute's type; nil if it cannot be converted.
    package func convert(_ value: GraphValue, to attribute: GraphSchema.Attribute) -> GraphValue? {
        convert(value, to: attribute, attribute.codec)
    }

    /// The value converted to the type of an attribute of the model; nil if it cannot be converted.
    package func convert(_ value: GraphValue, to attribute: AttributePlan) -> GraphValue? {
        convert(value, to: attribute.type, attribute.codec)
    }

    private func convert(
        _ value: GraphValue, to attribute: GraphSchema.Attribute, _ codec: any AttributeCodec
    ) -> GraphValue? {
        if !permitsNaN, value.isNaN { return nil }
        if attribute.type == .composite {
            if case .composite = value { return codec.convert(value, by: self) }
        }
        if value.fits(attribute.type) { return value }
        return isStrict ? nil : codec.convert(value, by: self)
    }
}

extension GraphValue {
    fileprivate var isNaN: Bool {
        switch self {
        case .double(let number), .date(let number): number.isNaN
        case .float(let number): number.isNaN
        case .decimal(let number): number.isNaN
        case .composite(let elements): elements.contains(where: \.value.isNaN)
        default: false
        }
    }
}
