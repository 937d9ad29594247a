import CoreData

extension Trip {
    /// The stops as an array, in their order.
    public var orderedStops: [Stop] {
        stops?.array as? [Stop] ?? []
    }

    /// The travelers by name.
    public var sortedTravelers: [Traveler] {
        let all = travelers as? Set<Traveler> ?? []
        return all.sorted { $0.displayName < $1.displayName }
    }

    /// The names of the tags, sorted.
    public var tagNames: [String] {
        let all = tags as? Set<Tag> ?? []
        return all.map(\.name).sorted()
    }

    /// Replaces the tags, creating those that do not exist.
    public func setTags(named names: [String]) throws {
        guard let context = managedObjectContext else { return }
        let found = try names.map { try Tag.findOrCreate(named: $0, in: context) }
        tags = NSSet(array: found)
    }

    /// Adds a stop at the end.
    @discardableResult
    @objc public func addStop(named name: String, latitude: Double, longitude: Double) -> Stop? {
        guard let context = managedObjectContext else { return nil }
        let stop = Stop(context: context)
        stop.name = name
        stop.latitude = latitude
        stop.longitude = longitude
        addToStops(stop)
        return stop
    }

    /// Moves a stop to another position in the order.
    public func moveStop(from source: Int, to destination: Int) {
        guard let stop = stops?.object(at: source) as? Stop else { return }
        removeFromStops(at: source)
        insertIntoStops(stop, at: destination)
    }

    /// Sets the two people who travel in most trips of the app's owner.
    public func setCouple(_ one: Traveler, _ other: Traveler) {
        travelers = [one, other] as NSSet
    }
}

// MARK: - Predicates

extension Trip {
    public static func favorites() -> NSPredicate {
        NSPredicate(format: "%K == YES", #keyPath(Trip.isFavorite))
    }

    public static func withStatus(_ status: Status) -> NSPredicate {
        NSPredicate(format: "%K == %d", #keyPath(Trip.statusRawValue), status.rawValue)
    }

    public static func visiting(_ place: String) -> NSPredicate {
        NSPredicate(format: "ANY %K CONTAINS[cd] %@", #keyPath(Trip.stops.name), place)
    }

    public static func tagged(_ name: String) -> NSPredicate {
        NSPredicate(format: "ANY %K ==[c] %@", #keyPath(Trip.tags.name), name)
    }

    public static func between(_ start: Date, _ end: Date) -> NSPredicate {
        NSCompoundPredicate(andPredicateWithSubpredicates: [
            NSPredicate(format: "%K >= %@", #keyPath(Trip.startDate), start as NSDate),
            NSPredicate(format: "%K <= %@", #keyPath(Trip.startDate), end as NSDate),
        ])
    }

    public static func withExpenses(above amount: NSDecimalNumber) -> NSPredicate {
        NSPredicate(
            format: "SUBQUERY(%K, $expense, $expense.amount > %@).@count > 0", #keyPath(Trip.expenses), amount)
    }
}

// MARK: - Sort descriptors

extension Trip {
    public static var byName: NSSortDescriptor {
        NSSortDescriptor(
            key: #keyPath(Trip.name), ascending: true,
            selector: #selector(NSString.localizedStandardCompare(_:)))
    }

    public static var byStart: NSSortDescriptor {
        NSSortDescriptor(keyPath: \Trip.startDate, ascending: true)
    }

    public static var newestFirst: [NSSortDescriptor] {
        [
            NSSortDescriptor(key: #keyPath(Trip.startDate), ascending: false),
            NSSortDescriptor(
                key: #keyPath(Trip.name), ascending: true, selector: #selector(NSString.caseInsensitiveCompare)),
        ]
    }
}
