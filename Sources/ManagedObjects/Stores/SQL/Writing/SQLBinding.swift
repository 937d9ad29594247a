import Foundation
import GRDB

/// What receives the values of parameters, which are counted from 1.
protocol SQLBinding {
    func bindNull(at position: Int)
    func bind(_ number: Int64, at position: Int)
    func bind(_ number: Double, at position: Int)
    func bind(_ text: String, at position: Int)
    func bind(_ data: Data, at position: Int)
    func bind(_ bytes: UnsafeRawBufferPointer, at position: Int)
}

extension SQLStatement: SQLBinding {}

/// The values of a statement's parameters in order.
final class SQLArguments: SQLBinding {
    private(set) var values: [DatabaseValue] = []
    /// The position of the next parameter.
    var next: Int { values.count + 1 }

    func append(_ value: DatabaseValue) { values.append(value) }

    func bindNull(at position: Int) { values.append(.null) }
    func bind(_ number: Int64, at position: Int) { values.append(number.databaseValue) }
    func bind(_ number: Double, at position: Int) { values.append(number.databaseValue) }
    func bind(_ text: String, at position: Int) { values.append(text.databaseValue) }
    func bind(_ data: Data, at position: Int) { values.append(data.databaseValue) }
    func bind(_ bytes: UnsafeRawBufferPointer, at position: Int) { values.append(Data(bytes).databaseValue) }
}
