import ArgumentParser
import Coral

/// The time zone of dates: `--time-zone`.
struct TimeZoneOption: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The time zone of dates, such as Europe/Berlin, +02:00 or local. Default: UTC.", valueName: "zone"),
        completion: .list(["local", "UTC"] + TimeZone.knownTimeZoneIdentifiers))
    var timeZone: String?

    func validate() throws {
        if let timeZone, Self.zone(timeZone) == nil {
            let question = NameSuggestion.question(for: timeZone, in: TimeZone.knownTimeZoneIdentifiers)
            throw ValidationError("There is no time zone \"\(timeZone)\".\(question)")
        }
    }

    /// The chosen time zone; nil for UTC, in which dates are written with all their digits and a Z.
    var zone: TimeZone? { timeZone.flatMap(Self.zone) }

    private static func zone(_ name: String) -> TimeZone? {
        if name == "local" { return .current }
        guard let sign = name.first, sign == "+" || sign == "-", let minutes = minutes(ofOffset: name.dropFirst())
        else {
            return TimeZone(identifier: name)
        }
        return TimeZone(secondsFromGMT: (sign == "-" ? -1 : 1) * minutes * 60)
    }

    /// The minutes of an offset without its sign: `0200` or `02:00`.
    private static func minutes(ofOffset text: Substring) -> Int? {
        var digits = Array(text)
        if digits.count == 5, digits[2] == ":" { digits.remove(at: 2) }
        guard digits.count == 4, digits.allSatisfy({ $0.isASCII && $0.isNumber }),
            let hours = Int(String(digits[..<2])),
            let minutes = Int(String(digits[2...]))
        else { return nil }
        return hours * 60 + minutes
    }
}

/// The text of dates in a time zone.
enum DateCell {
    /// ISO 8601 with the offset of the zone: `2024-02-29T13:30:00.250+01:00`. The digits after the point are those of
    /// the text in UTC.
    static func text(of seconds: Double, in zone: TimeZone?) -> String {
        let exact = TextValue.text(of: .date(seconds)) ?? ""
        guard let zone, exact.hasSuffix("Z"), let point = exact.lastIndex(of: ".") else { return exact }
        // Offsets of local mean time, which preceded standard time, have seconds, which ISO 8601 does not support. The offset
        // is rounded to whole minutes, and the time is moved by as much, so that both together are exact.
        let offset = zone.secondsFromGMT(for: Date(timeIntervalSinceReferenceDate: seconds)) / 60 * 60
        // Only whole seconds are moved, so that no digit is rounded.
        guard case .date(let whole)? = TextValue.anyValue(exact[..<point] + "Z", as: .date),
            let moved = TextValue.text(of: .date(whole + Double(offset))), !moved.hasPrefix("@")
        else { return exact }
        let minutes = abs(offset) / 60
        let digits = [minutes / 60, minutes % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return moved.prefix { $0 != "." } + exact[point...].dropLast() + (offset < 0 ? "-" : "+")
            + digits.joined(separator: ":")
    }
}

/// The identity of objects: `--key Note=id`, or `--key Line=order,number`.
struct KeyOption: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The attributes that identify objects, such as Note=id or Line=order,number.", valueName: "key"))
    var key: [String] = []

    /// The identities, checked against a model. Throws `CommandError` with a name that the model does not have.
    func identity(in model: NSManagedObjectModel) throws -> ObjectIdentity {
        var identity = ObjectIdentity()
        for text in key {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            let list = parts.count == 2 ? parts[1] : ""
            let names = list.isEmpty ? [] : list.components(separatedBy: ",")
            guard !names.isEmpty else { throw CommandError("--key \(text) is not of the form Entity=attribute,….") }
            let entity = try OpenStore.entity(named: parts[0], in: model)
            for name in names {
                try KeyPathCheck(entity).check(KeyPathCheck.keys(of: name), in: text)
            }
            guard identity.keys.updateValue(names, forKey: parts[0]) == nil else {
                throw CommandError("--key is given twice for \(parts[0]). Name all attributes in one option.")
            }
        }
        return identity
    }
}

/// The dialect of the directives in a model's user info: `--dialect`.
struct DialectOption: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The dialect of the directives in the model's user info: coral, groot, sync or magicalimport.",
            valueName: "dialect"),
        completion: .list(Dialect.all.map(\.name)))
    var dialect: String?

    /// The chosen dialect. Throws `CommandError` if there is none of that name.
    func chosen() throws -> Dialect? {
        guard let name = dialect else { return nil }
        guard let dialect = Dialect(named: name) else {
            throw CommandError(
                "There is no dialect \"\(name)\".\(NameSuggestion.advice(for: name, in: Dialect.all.map(\.name)))")
        }
        return dialect
    }
}

/// `--quiet`: no progress and no reports on standard error.
struct QuietOption: ParsableArguments {
    @Flag(name: .long, help: "Write no progress and no reports to standard error, only warnings and errors.")
    var quiet = false

    /// Called by the argument parser before the command runs.
    func validate() { if quiet { StandardError.isQuiet = true } }
}
