import CoreData
import GraphDocuments

/// The conversions of the values of one attribute type: between the values of key-value coding and those of documents,
/// from other types of a document, and whether two values are equal. There is one file for each type.
///
/// For stores of this package's engine, most codecs also conform to `RowCodec`, which reads and writes columns.
protocol AttributeCodec {
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
    func isSame(_ stored: GraphValue, _ given: GraphValue, by equality: ValueEquality) -> Bool { stored == given }
}

/// When a value of a document is considered equal to a stored one.
struct ValueEquality {
    /// The largest difference in seconds of equal dates.
    var dateTolerance: Double
    /// Whether numbers are compared as SQLite stores them, without negative zeros.
    var isOfSQLite: Bool
    /// Whether decimals are compared as doubles, as SQLite and the store in PostgreSQL keep them.
    var comparesDecimalsAsDoubles: Bool
}

extension ValueEquality {
    /// The equality for an import into the stores of a coordinator. Documents with a header state dates exactly.
    init(_ options: ImportOptions, hasHeader: Bool, coordinator: NSPersistentStoreCoordinator?) {
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
    var codec: any AttributeCodec {
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

#if !canImport(Darwin) && !CORAL_PUBLIC_API
    @_spi(Stores) import ManagedObjects

    /// The codec of a type whose values are columns of a row.
    ///
    /// `RowCursor` reads columns by their number, `FoundRows` by their slot; a `RowBatch` contains the cells of a
    /// document's records. The column or cell is not NULL where a method reads it.
    protocol RowCodec: AttributeCodec {
        /// Whether values of the type may identify objects.
        var canIdentify: Bool { get }

        /// The value of a column.
        func read(_ column: Int32, of row: RowCursor) -> GraphValue

        /// Writes a column as JSON.
        func write(_ column: Int32, of row: RowCursor, to writer: inout JSONWriter) throws

        /// Writes a column as a field of a table.
        func write(_ column: Int32, of row: RowCursor, to table: inout TableWriter) throws

        /// Sets a cell to a value of the type, which is not null; false if columns cannot contain it.
        func bind(_ value: GraphValue, to rows: RowBatch, _ row: Int, _ slot: Int) -> Bool

        /// Whether a cell has the value of a found row: the same result as `isSame(_:_:by:)` for the two values.
        func isSame(
            _ found: FoundRows, _ given: RowBatch, _ row: Int, _ slot: Int, by equality: ValueEquality
        ) -> Bool

        /// Adds the value of a found row to the digest of a key; false if no value of a document can be equal to it.
        func add(_ found: FoundRows, _ slot: Int, to digest: inout KeyDigest) -> Bool
    }

    extension RowCodec {
        var canIdentify: Bool { false }

        func write(_ column: Int32, of row: RowCursor, to table: inout TableWriter) throws {
            try table.value(read(column, of: row))
        }

        func add(_ found: FoundRows, _ slot: Int, to digest: inout KeyDigest) -> Bool {
            digest.add(found.integer(slot))
            return true
        }
    }

    extension NSAttributeDescription {
        /// The codec of the attribute's columns; nil if rows do not contain its values.
        func rowCodec(
            dates: PlainLayout.DateForm = .exact, decimals: PlainLayout.DecimalForm = .number
        ) -> (any RowCodec)? {
            guard !isTransient else { return nil }
            return switch GraphSchema.Attribute(self).codec {
            case is DateCodec: DateCodec(form: dates)
            case is DecimalCodec: DecimalCodec(form: decimals)
            case let codec: codec as? any RowCodec
            }
        }
    }

    /// A column of rows with the values of an attribute.
    package final class AttributeColumn {
        private let codec: any RowCodec
        private let column: Int32

        /// The column of an attribute; nil if rows do not contain its values.
        package init?(_ attribute: NSAttributeDescription, at column: Int32) {
            guard let codec = attribute.rowCodec() else { return nil }
            (self.codec, self.column) = (codec, column)
        }

        /// The value in a row.
        package func value(in row: RowCursor) -> GraphValue { row.isNull(column) ? .null : codec.read(column, of: row) }

        /// Writes the value in a row as a field of a table.
        package func write(_ row: RowCursor, to table: inout TableWriter) throws {
            if row.isNull(column) { try table.null() } else { try codec.write(column, of: row, to: &table) }
        }
    }
#endif

/// An attribute of a model as imports, exports and comparisons access it.
final class AttributePlan {
    let name: String
    let type: GraphSchema.Attribute
    let codec: any AttributeCodec
    /// Whether the store computes the value.
    let isDerived: Bool
    /// Whether large values are stored in external files.
    let mayHaveFile: Bool

    init(_ attribute: NSAttributeDescription) {
        name = attribute.name
        type = GraphSchema.Attribute(attribute)
        codec = type.type == .transformable ? TransformableCodec(attribute) : type.codec
        isDerived = attribute is NSDerivedAttributeDescription
        mayHaveFile = attribute.allowsExternalBinaryDataStorage
    }

    /// The value of an object. A value whose file does not exist is a reference to that file.
    ///
    /// Throws `ExportError` for a transformable value that cannot be archived.
    func value(of object: NSManagedObject) throws -> GraphValue {
        guard let value = object.value(forKey: name) else {
            if mayHaveFile, let name = MissingFileReference.name(of: object, name) {
                return .file(ExternalFile(missing: name))
            }
            return .null
        }
        return try codec.value(of: value) ?? GraphValue(undeclared: value)
    }

    /// The value for key-value coding of a value of the attribute's type. Files are read from the document's folder.
    ///
    /// Throws `ImportError` for an invalid URI, a file that may not be read, or an archive that cannot be decoded.
    func object(for value: GraphValue, folder: URL? = nil) throws -> Any? {
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
struct ValueConversion {
    let isStrict: Bool
    let numericDates: NumericDates
    let dates: DateFormats

    init(_ options: ImportOptions) {
        isStrict = options.mismatchedValues == .fail
        numericDates = options.numericDates
        dates = DateFormats(options.dateFormats + DateFormats.usual)
    }

    /// The value converted to the attribute's type; nil if it cannot be converted.
    func convert(_ value: GraphValue, to attribute: GraphSchema.Attribute) -> GraphValue? {
        convert(value, to: attribute, attribute.codec)
    }

    /// The value converted to the type of an attribute of the model; nil if it cannot be converted.
    func convert(_ value: GraphValue, to attribute: AttributePlan) -> GraphValue? {
        convert(value, to: attribute.type, attribute.codec)
    }

    private func convert(
        _ value: GraphValue, to attribute: GraphSchema.Attribute, _ codec: any AttributeCodec
    ) -> GraphValue? {
        if attribute.type == .composite {
            if case .composite = value { return codec.convert(value, by: self) }
        }
        if value.fits(attribute.type) { return value }
        return isStrict ? nil : codec.convert(value, by: self)
    }
}
