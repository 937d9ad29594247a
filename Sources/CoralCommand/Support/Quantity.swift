/// Numbers with units, for output.
enum Quantity {
    /// `3.4 MB`: a size in bytes, by thousands.
    static func bytes(_ count: Int64) -> String {
        let units = ["bytes", "kB", "MB", "GB", "TB"]
        var value = Double(count)
        var unit = 0
        // Compared as it is written, so that 999,960 bytes are 1.0 MB.
        while unit == 0 ? value >= 1000 : (value * 10).rounded() >= 10_000, unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        if unit == 0 { return count == 1 ? "1 byte" : "\(count) bytes" }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    /// `1 object`, `12 objects`.
    static func count(_ number: Int, _ noun: String) -> String {
        number == 1 ? "1 \(noun)" : "\(grouped(number)) \(noun.hasSuffix("y") ? noun.dropLast() + "ies" : noun + "s")"
    }

    /// `121,000`: a number with grouped thousands.
    static func grouped(_ number: some BinaryInteger) -> String {
        let digits = String(number.magnitude)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return number < 0 ? "-" + text : text
    }
}
